"""What a model is made of: layers, widths, parameters, bytes, from the files that describe it."""
