"""Turns files of other projects into a spec: Hugging Face configs, safetensors and GGUF headers, the Hub."""
