"""``python -m softlookup``."""

from softlookup.cli import main

raise SystemExit(main())
