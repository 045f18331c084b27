"""The files of a dataset, on a disk or at a URL."""
