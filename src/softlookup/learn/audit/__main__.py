"""``python -m softlookup.learn.audit``: the table, one row, or the documents of a folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from softlookup.errors import SoftlookupError
from softlookup.learn.audit.render import FILES, audit_page, audit_table, row_text
from softlookup.learn.audit.rows import audit_row


def main(arguments: list[str] | None = None) -> int:
    """Print what was asked for; with ``--write`` the documents are written instead."""
    parser = argparse.ArgumentParser(prog="python -m softlookup.learn.audit", description=__doc__)
    parser.add_argument("--row", metavar="ID", help="one row only")
    parser.add_argument(
        "--with-model", action="store_true", help="also run the embedded model for the rows that need it"
    )
    parser.add_argument("--lang", choices=("en", "zh"), default="en")
    parser.add_argument("--write", metavar="FOLDER", type=Path, help="write both documents there")
    options = parser.parse_args(arguments)
    try:
        if options.write is not None:
            for language, name in FILES.items():
                (options.write / name).write_text(audit_page(language), "utf-8")
        elif options.row is not None:
            sys.stdout.write(row_text(audit_row(options.row), options.lang))
        else:
            sys.stdout.write(audit_table(options.lang, with_model=options.with_model))
    except SoftlookupError as error:
        sys.stderr.write(f"softlookup: error: {error}\n")
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    sys.exit(main())
