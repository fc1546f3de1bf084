"""From files that others write to a spec: Hugging Face configs, safetensors and GGUF headers, the Hub."""
