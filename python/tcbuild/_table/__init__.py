"""The table of samples, as rows and columns."""
