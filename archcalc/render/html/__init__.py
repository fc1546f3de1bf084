"""HTML documents: one file, no request, nothing that its Content-Security-Policy would not let through."""
