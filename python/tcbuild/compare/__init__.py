"""`python -m tcbuild.compare --help`: which dataset, in which form, trains fastest."""
