"""From blocks to the clause tree: labels, headings, nesting, and what only looks like a label."""
