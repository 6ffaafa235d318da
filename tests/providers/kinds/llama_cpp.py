"""llama.cpp's own server, with a model of a few kilobytes that is made here. Its next token depends only on the last token."""

import atexit
import os
import tempfile
import urllib.request
from functools import cache
from threading import Lock

import numpy
import xllamacpp
from gguf import GGUFWriter, TokenType

from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

from . import Case, packages
from .openai_sdk import DOCUMENT, HAZARDS, check

WIDTH = 16
# The tokens that can follow a token, the most likely first, as far as the server allows them. Tokens in the same brackets are
# equally likely.
AFTER = {
    "|": [["unsafe", "safe"]],
    "unsafe": ["<0x0A>"],
    "<0x0A>": ["S10"],
    "S10": ["</s>"],
    ":": ["0"],
    "0": ["."],
    ".": ["5"],
    "5": [",", "}"],
    "}": ["</s>"],
}


def tokens():
    """The vocabulary: a token for each byte, and a few more."""
    yield from (("<unk>", TokenType.UNKNOWN), ("<s>", TokenType.CONTROL), ("</s>", TokenType.CONTROL))
    yield from ((word, TokenType.USER_DEFINED) for word in ("unsafe", "safe", "S10"))
    yield from ((f"<0x{byte:02X}>", TokenType.BYTE) for byte in range(256))
    yield from ((chr(character), TokenType.NORMAL) for character in range(33, 127))
    # Spaces.
    yield "\u2581", TokenType.NORMAL


def write_model(path):
    names, kinds = zip(*tokens())
    ids = {name: position for position, name in enumerate(names)}
    # Each token of the table has its own direction. All other tokens share one.
    embedding = numpy.zeros((len(names), WIDTH), dtype=numpy.float32)
    embedding[:, 0] = 1
    output = numpy.full((len(names), WIDTH), -4, dtype=numpy.float32)
    for direction, (name, following) in enumerate(AFTER.items(), start=1):
        embedding[ids[name]] = numpy.eye(WIDTH, dtype=numpy.float32)[direction]
        for rank, likely in enumerate(following):
            for token in [likely] if isinstance(likely, str) else likely:
                output[ids[token], direction] = 8 - rank
    writer = GGUFWriter(path, "llama")
    writer.add_context_length(8_192)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(WIDTH)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH)
    writer.add_vocab_size(len(names))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(list(names))
    writer.add_token_scores([-float(position) for position in range(len(names))])
    writer.add_token_types(list(kinds))
    writer.add_bos_token_id(ids["<s>"])
    writer.add_eos_token_id(ids["</s>"])
    writer.add_unk_token_id(ids["<unk>"])
    writer.add_chat_template("{% for message in messages %}{{ message['content'] }}|{% endfor %}")
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output.weight", output)
    writer.add_tensor("output_norm.weight", numpy.ones(WIDTH, dtype=numpy.float32))
    # Its one layer adds nothing.
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        writer.add_tensor(f"blk.0.{name}.weight", numpy.zeros((WIDTH, WIDTH), dtype=numpy.float32))
    for name in ("attn_norm", "ffn_norm"):
        writer.add_tensor(f"blk.0.{name}.weight", numpy.ones(WIDTH, dtype=numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


starting = Lock()


@cache
def server():
    """The server, and its address."""
    directory = tempfile.TemporaryDirectory()
    atexit.register(directory.cleanup)
    path = os.path.join(directory.name, "tiny.gguf")
    write_model(path)
    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = 8_192
    parameters.n_parallel = 1
    parameters.fit_params = False
    parameters.verbosity = -1
    server = xllamacpp.Server(parameters)
    return server, server.listening_address


def forward(request):
    """The server's answer to the same request."""
    with starting:
        address = server()[1] + request.target
    headers = {"content-type": request.headers["content-type"]}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(address, request.body, headers), timeout=60) as answer:
        return answer.read()


SERVER = f"llama.cpp's server ({packages('xllamacpp')})"


TRIED = {
    "answer": forward,
    "check": check(CompletionCreateParamsNonStreaming, "CreateChatCompletionRequest"),
    "request_valid_by": f"{SERVER}; {DOCUMENT}",
    "answer_parsed_by": "what it answered itself",
}
# As in the recipe.
CHAT = TRIED | {"scores": {"hate": 0.5, "spam": 0.5}}

CASES = [
    Case(
        name="llama-cpp-guard",
        modality="text",
        members='kind = "chat"\nstyle = "llama_guard"\nmodel = "m"',
        scores=HAZARDS | {"adult": 0.0},
        **TRIED,
    )
]
