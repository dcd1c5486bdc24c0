"""The chat template, and a conversation as text. Used by every script here; the bundle carries TEMPLATE (export.py)."""

SPECIAL_TOKENS = ["<|pad|>", "<|bos|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
PAD, BOS, END, SYSTEM, USER, ASSISTANT = range(len(SPECIAL_TOKENS))

# Roles that the model does not know speak as the user.
TEMPLATE = (
    "{{ '<|bos|>' }}{% for message in messages %}"
    "{% if message['role'] in ['system', 'assistant'] %}{{ '<|' + message['role'] + '|>' }}{% else %}{{ '<|user|>' }}{% endif %}"
    "{{ message['content'] | trim }}{{ '<|end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
