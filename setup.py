"""The folders of the repository are the package `reflex_bench`, which itself is a namespace."""

from setuptools import find_packages, setup

FOLDERS = ("agents", "cli", "configs", "core", "envs", "harness", "models")

setup(
    packages=[
        f"reflex_bench.{name}"
        for name in find_packages(include=[f"{folder}{rest}" for folder in FOLDERS for rest in ("", ".*")])
    ],
    package_dir={f"reflex_bench.{folder}": folder for folder in FOLDERS},
)
