"""What a person sees: view models (plain data) and their renderers."""
