"""Quoting: a question read by its parts, passages read as blocks, and the choice of what answers."""
