"""Lessons as running code, exercises, a quiz, and the audit of the course page; for people who learn attention.

The pages lie in ``lessons/``; this package finds, runs and checks them. ``show`` is what their cells call.
"""

from __future__ import annotations

from softlookup.learn.show import show

__all__ = ["show"]
