"""What an indexer needs to bring a SharePoint library into the index of ATTEST_SEARCH=azure, as JSON to look at and to put there.

    python -m tools.sharepoint_indexer --index attest --site https://contoso.sharepoint.com/sites/help --tenant ID --application ID

Each key is a path under the service's endpoint, each value the body of a PUT to it (docs/azure.md). Nothing is sent.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from grounding.azure.search.sharepoint import COLUMN, definitions


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the definitions."""
    parser = argparse.ArgumentParser(prog="python -m tools.sharepoint_indexer", description=__doc__)
    for name in ("index", "site", "tenant", "application"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--column", default=COLUMN, help="the library's column that holds the groups")
    given = parser.parse_args(arguments)
    made = definitions(given.index, given.site, given.tenant, given.application, column=given.column)
    sys.stdout.write(json.dumps(made, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
