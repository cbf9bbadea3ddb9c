"""The kernelspec: what is in it, and where `autodiff-kernel install` puts it."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from autodiff_kernel.jupyter import kernelspec

ROOT = Path(__file__).parents[1]


def call(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, env={**os.environ, **env}, check=False
    )


def test_the_shipped_spec_starts_the_python_that_runs_jupyter() -> None:
    spec = json.loads((kernelspec.FILES / "kernel.json").read_text(encoding="utf-8"))
    assert spec["argv"][0] == "python"
    assert "--log-level=ERROR" in spec["argv"]
    assert spec["metadata"]["debugger"] is True
    assert (spec["language"], spec["display_name"]) == ("python", "Autodiff")


def test_the_wheel_carries_the_spec_where_jupyter_looks() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    shared = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert shared == {"autodiff_kernel/jupyter/spec": "share/jupyter/kernels/autodiff"}
    assert sorted(file.name for file in kernelspec.FILES.iterdir()) == [
        "kernel.json",
        "logo-32x32.png",
        "logo-64x64.png",
        "logo-svg.svg",
    ]


def test_base_dependencies_are_four() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [need.split(">")[0] for need in project["dependencies"]] == [
        "numpy",
        "ipykernel",
        "matplotlib",
        "graphviz",
    ]


def test_install_into_a_prefix_is_seen_by_jupyter(tmp_path: Path) -> None:
    done = call("autodiff_kernel", "install", "--prefix", str(tmp_path), "--name", "autodiff-class")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "share" / "jupyter" / "kernels" / "autodiff-class"
    assert done.stdout == f"installed kernel 'autodiff-class' in {folder}\n"
    spec = json.loads((folder / "kernel.json").read_text(encoding="utf-8"))
    assert spec["argv"][0] == sys.executable
    assert spec["display_name"] == "Autodiff (autodiff-class)"
    assert (folder / "logo-64x64.png").read_bytes() == (kernelspec.FILES / "logo-64x64.png").read_bytes()

    listed = call("jupyter", "kernelspec", "list", JUPYTER_PATH=str(tmp_path / "share" / "jupyter"))
    assert "autodiff-class" in listed.stdout


def test_install_for_the_user(tmp_path: Path) -> None:
    done = call("autodiff_kernel", "install", "--user", JUPYTER_DATA_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "kernels" / "autodiff" / "kernel.json").exists()


def test_install_over_an_old_one_replaces_it(tmp_path: Path) -> None:
    old = tmp_path / "share" / "jupyter" / "kernels" / "autodiff"
    old.mkdir(parents=True)
    (old / "kernel.json").write_text("{}")
    assert kernelspec.install(prefix=str(tmp_path)) == old
    assert json.loads((old / "kernel.json").read_text())["language"] == "python"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--name", "not a name"], "Invalid kernel name"),
        (["--prefix", os.devnull], os.devnull),
    ],
)
def test_install_that_cannot_be_is_one_line(words: list[str], said: str) -> None:
    done = call("autodiff_kernel", "install", *words)
    assert done.returncode == 1
    assert said in done.stderr
    assert done.stderr.startswith("autodiff-kernel install: ")
    assert "Traceback" not in done.stderr


def test_available_comes_before_what_is_installed_and_goes_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    kernelspec.write(tmp_path / "kernels")
    with kernelspec.available() as folder:
        assert kernelspec.installed() == folder / "kernels" / "autodiff"
    assert kernelspec.installed() == tmp_path / "kernels" / "autodiff"
    assert os.environ["JUPYTER_PATH"] == str(tmp_path)
