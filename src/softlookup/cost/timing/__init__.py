"""What this machine does: timings, the rates they imply, and predictions from them."""
