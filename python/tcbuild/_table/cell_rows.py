"""The attributes that say where a sample's cell is in an AnnData file."""

ROW = "row"  # from 0
FILE = "file"  # its name
FILE_ROWS = "file_rows"  # how many rows it has
