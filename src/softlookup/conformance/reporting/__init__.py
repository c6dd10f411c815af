"""Reports for other programs: accepted deviations, JUnit XML, SARIF; not for finding anything.

``verdict_of`` compares a report with a baseline, ``properties_of`` cuts it into one result per property,
``junit_xml`` and ``sarif`` write those down.
"""

from softlookup.conformance.reporting.baseline import Baseline, Verdict, read_baseline, verdict_of
from softlookup.conformance.reporting.junit import junit_xml
from softlookup.conformance.reporting.properties import Property, properties_of
from softlookup.conformance.reporting.sarif import sarif

__all__ = ["Baseline", "Property", "Verdict", "junit_xml", "properties_of", "read_baseline", "sarif", "verdict_of"]
