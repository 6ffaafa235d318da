"""Extracts the code from docs/webhooks.md: `extract.py <language> <directory>` writes the two blocks of a language's section
as `library` and `by_hand`. The block with the library comes first."""

import re
import sys
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "webhooks.md"
# The section, the word after its fences, and the language's file extension.
LANGUAGES = {
    "rust": ("Rust", "rust", "rs"),
    "python": ("Python", "python", "py"),
    "typescript": ("TypeScript", "ts", "ts"),
    "go": ("Go", "go", "go"),
    "php": ("PHP", "php", "php"),
    "ruby": ("Ruby", "ruby", "rb"),
}


def main(language, directory):
    title, fence, suffix = LANGUAGES[language]
    _, _, section = DOCUMENT.read_text().partition(f"\n### {title}\n")
    section = re.split(r"^#{2,3} ", section, maxsplit=1, flags=re.MULTILINE)[0]
    blocks = re.findall(rf"^```{fence}\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2, f"{len(blocks)} blocks of {fence} under {title}"
    Path(directory).mkdir(parents=True, exist_ok=True)
    for name, code in zip(("library", "by_hand"), blocks):
        (Path(directory) / f"{name}.{suffix}").write_text(code)


main(*sys.argv[1:])
