"""`--expect N`: whether a count is what somebody expected, by the engine that also names a student's mistake."""
