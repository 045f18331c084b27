"""Makes the graph folder of a preset of tcbuild.sources."""

import argparse
import logging
import sys

from tcbuild import sources
from tcbuild.errors import DatasetError


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tcbuild.sources", description=__doc__)
    parser.add_argument("preset", choices=["human", "yeast"])
    parser.add_argument(
        "--data", required=True, help="folder of downloads; missing ones are fetched"
    )
    parser.add_argument("--out", required=True, help="folder of the graph")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        graph = getattr(sources, given.preset)(given.data)
        sources.write(graph, given.out)
    except DatasetError as error:
        sys.exit(str(error))
    print(graph.account)


main()
