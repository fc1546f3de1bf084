"""What several tests share: small models, files to read, and the truth out of PyTorch and transformers."""
