"""Screens as sample tables."""
