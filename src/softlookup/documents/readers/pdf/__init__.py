"""PDF files: lines, columns, tables and furniture of pages, in a process of their own."""
