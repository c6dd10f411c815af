"""What makes hostile text harmless, where commands look for it; it is the same for what people look at."""

from softlookup.ui.escape import json_line, json_text, printable, printable_line

__all__ = ["json_line", "json_text", "printable", "printable_line"]
