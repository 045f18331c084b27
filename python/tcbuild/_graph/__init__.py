"""The cell graph."""
