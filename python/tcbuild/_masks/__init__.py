"""Masks: stored, computed, and laid out for batches."""
