"""What people look at: the report, the local page, and the HTTP and MCP interfaces that other programs call."""
