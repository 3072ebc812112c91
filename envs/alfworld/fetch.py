"""Downloads the official ALFWorld data, and says what data there is.

Fetched are two of the archives of alfworld's own `alfworld-download`: the text games, in their newest version (2.1.3),
and the ALFRED trajectories (2.1.1) that belong to them and that the official tools look for.
"""

from __future__ import annotations

import hashlib
import http.client
import shutil
import stat
import urllib.error
import urllib.request
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.alfworld.generator import replace_file
from reflex_bench.envs.alfworld.official.data import data_folder

BASE_URL = "https://github.com/alfworld/alfworld/releases/download"
MAX_CONTENT = 8 << 30  # bytes; the two archives hold less than a tenth of that
_CHUNK = 1 << 18
_TIMEOUT = 60.0  # seconds without a byte


@dataclass(frozen=True, slots=True)
class Archive:
    """One file of a release.

    Attributes:
        release: the tag that it hangs on, part of its address.
        name: of the file.
        size: in bytes; None where unknown.
        sha256: hexadecimal; None where unknown.
    """

    release: str
    name: str
    size: int | None = None
    sha256: str | None = None


# The release page gives no digests; these are the ones that other users of the files have published.
ARCHIVES = (
    Archive(
        "0.4.2",
        "json_2.1.3_tw-pddl.zip",
        36_507_267,
        "5df77ea759f2211a4106082839ddbbb790f1ba4e7d097ed732cf453f72aa36cf",
    ),
    Archive(
        "0.2.2",
        "json_2.1.1_json.zip",
        72_018_818,
        "25171f16e20ad7b048c47275c45b0babf3aa1cbab29cec97387922350a9844bc",
    ),
)


def fetch(
    data: Path | None = None, base_url: str | None = None, archives: tuple[Archive, ...] = ARCHIVES
) -> Path:
    """Downloads, checks and unpacks the official data; what is already unpacked is left alone.

    An interrupted download goes on where it stopped when called again.

    Args:
        data: where to; None: `$ALFWORLD_DATA` or `~/.cache/alfworld`.
        base_url: what stands before `/<release>/<file>` in the addresses; None: the project's release page.
        archives: what to fetch.

    Returns:
        The folder.

    Raises:
        UsageError: no connection, no room, a file that is not what it should be.
    """
    folder = data_folder(data)
    for archive in archives:
        done = folder / f".{archive.name}.unpacked"
        if done.exists():
            continue
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = _download(
                archive, f"{(base_url or BASE_URL).rstrip('/')}/{archive.release}/{archive.name}", folder
            )
            unpack(path, folder)
            replace_file(done, f"{_sha256(path)}\n".encode())
            path.unlink()
        except OSError as error:
            raise UsageError(f"cannot put {archive.name} into {folder}: {error.strerror or error}") from error
    return folder


def unpack(archive: Path, folder: Path) -> None:
    """Unpacks a zip file, and nothing of it where any member would end up outside the folder or is a link.

    Raises:
        UsageError: such a member, far too much content, or no zip file.
    """
    from tqdm import tqdm

    try:
        with zipfile.ZipFile(archive) as content:
            members = [member for member in content.infolist() if not member.is_dir()]
            for member in members:
                _check_member(member, folder, archive.name)
            if sum(member.file_size for member in members) > MAX_CONTENT:
                raise UsageError(f"{archive.name} would unpack to more than {MAX_CONTENT >> 30} GB")
            for member in tqdm(members, desc=f"unpacking {archive.name}", unit="file", disable=None):
                target = folder / member.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                with content.open(member) as source, target.open("wb") as sink:
                    shutil.copyfileobj(source, sink)
    except (zipfile.BadZipFile, EOFError) as error:
        raise UsageError(f"{archive} is no sound zip file: {error}; delete it and fetch again") from error


def _check_member(member: zipfile.ZipInfo, folder: Path, archive: str) -> None:
    name = PurePosixPath(member.filename)
    mode = member.external_attr >> 16
    outside = name.is_absolute() or ".." in name.parts or "\\" in member.filename or ":" in member.filename
    linked = not (folder / name).resolve().is_relative_to(folder.resolve())
    if outside or linked or (mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG)):
        raise UsageError(f"{archive} holds an unsafe member, nothing was unpacked: {member.filename!r}")


def _download(archive: Archive, url: str, folder: Path) -> Path:
    """Return the complete, checked file; partial content stays in `<name>.part` for the next call."""
    path = folder / archive.name
    if path.exists():
        return path
    part = path.with_name(f"{archive.name}.part")
    have = part.stat().st_size if part.exists() else 0
    if archive.size is None or have < archive.size:
        try:
            _receive(url, part, have)
        except (
            urllib.error.URLError,
            http.client.HTTPException,
            ConnectionError,
            TimeoutError,
            ValueError,
        ) as error:
            reason = getattr(error, "reason", None) or error
            raise UsageError(f"cannot download {url}: {reason}; run the same command to go on") from error
    _check_content(archive, part)
    part.replace(path)
    return path


def _receive(url: str, part: Path, have: int) -> None:
    from tqdm import tqdm

    if not url.startswith(("https://", "http://")):
        raise ValueError("not an http address")
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        response = urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        with error:
            if have and error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                return  # everything is there already; the check that follows decides
            raise
    with response:
        if response.status != http.HTTPStatus.PARTIAL_CONTENT:
            have = 0  # the server sends the whole file whatever was asked
        length = response.headers.get("Content-Length")
        total = have + int(length) if length else None
        bar = tqdm(
            desc=part.stem,
            total=total,
            initial=have,
            unit="B",
            unit_scale=True,
            unit_divisor=1024,
            disable=None,
        )
        with bar, part.open("ab" if have else "wb") as file:
            while chunk := response.read(_CHUNK):
                file.write(chunk)
                bar.update(len(chunk))
    if total is not None and part.stat().st_size < total:
        raise ConnectionError(f"the connection broke at {part.stat().st_size:,} of {total:,} bytes")


def _check_content(archive: Archive, part: Path) -> None:
    size = part.stat().st_size
    if archive.size is not None and size != archive.size:
        part.unlink()
        raise UsageError(
            f"{archive.name} has {size:,} bytes, not {archive.size:,}; run the same command again"
        )
    if archive.sha256 is not None and _sha256(part) != archive.sha256:
        part.unlink()
        raise UsageError(
            f"{archive.name} is not the published file (sha256 differs); run the same command again"
        )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
