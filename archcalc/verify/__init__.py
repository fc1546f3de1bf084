"""archcalc's numbers beside PyTorch's: every quantity that both know, on the same model."""
