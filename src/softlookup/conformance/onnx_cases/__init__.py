"""The published backend cases of the ONNX operator Attention, put to any attention function; not a check of its own.

Inputs are flat and lengths short, so that passing them says less than ``check_fn`` does.
"""

from softlookup.conformance.onnx_cases.run import CaseResult, OnnxReport, run_onnx_cases

__all__ = ["CaseResult", "OnnxReport", "run_onnx_cases"]
