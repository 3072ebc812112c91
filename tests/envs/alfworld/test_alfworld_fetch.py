"""Downloading the official data, from a server on this machine."""

from __future__ import annotations

import hashlib
import io
import stat
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.alfworld.fetch import Archive, fetch, unpack

NAME = "json_2.1.1/valid_unseen/task/trial/game.tw-pddl"


def zipped(*members: tuple[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in members:
            archive.writestr(name, data)
    return content.getvalue()


@dataclass
class Site:
    """What the server serves and what it was asked.

    Attributes:
        files: by path.
        ranges: whether it honours the Range header.
        cut_at: breaks the connection after so many bytes, once.
        asked: (path, Range header) of every request.
    """

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    ranges: bool = True
    cut_at: int | None = None
    asked: list[tuple[str, str | None]] = field(default_factory=list)


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            site.asked.append((self.path, asked))
            content = site.files.get(self.path)
            if content is None:
                self.send_error(404)
                return
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and site.ranges else 0
            if start >= len(content):
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            end, site.cut_at = site.cut_at, None
            self.wfile.write(content[start:end])

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}/releases"
    yield site
    server.shutdown()
    thread.join()
    server.server_close()


def offer(site: Site, content: bytes, name: str = "games.zip") -> Archive:
    site.files[f"/releases/1.0/{name}"] = content
    return Archive("1.0", name, len(content), hashlib.sha256(content).hexdigest())


def test_archives_are_unpacked_and_not_fetched_again(site: Site, tmp_path: Path) -> None:
    archives = (
        offer(site, zipped((NAME, b"{}"))),
        offer(site, zipped(("json_2.1.1/more", b"m")), "more.zip"),
    )
    assert fetch(tmp_path, site.url, archives) == tmp_path
    assert (tmp_path / NAME).read_bytes() == b"{}"
    assert (tmp_path / "json_2.1.1/more").read_bytes() == b"m"
    assert {path.name for path in tmp_path.iterdir()} == {
        "json_2.1.1",
        ".games.zip.unpacked",
        ".more.zip.unpacked",
    }
    fetch(tmp_path, site.url, archives)
    assert [path for path, _ in site.asked] == ["/releases/1.0/games.zip", "/releases/1.0/more.zip"]


def test_a_broken_download_goes_on_where_it_stopped(site: Site, tmp_path: Path) -> None:
    archive = offer(site, zipped((NAME, bytes(range(256)) * 40)))
    site.cut_at = 5000
    with pytest.raises(UsageError, match="run the same command to go on"):
        fetch(tmp_path, site.url, (archive,))
    assert (tmp_path / "games.zip.part").stat().st_size == 5000
    fetch(tmp_path, site.url, (archive,))
    assert [asked for _, asked in site.asked] == [None, "bytes=5000-"]
    assert (tmp_path / NAME).read_bytes() == bytes(range(256)) * 40


def test_a_server_that_ignores_ranges_sends_the_whole_file(site: Site, tmp_path: Path) -> None:
    archive = offer(site, zipped((NAME, b"x" * 9000)))
    (tmp_path / "games.zip.part").write_bytes(b"\0" * 100)
    site.ranges = False
    fetch(tmp_path, site.url, (archive,))
    assert (tmp_path / NAME).read_bytes() == b"x" * 9000


def test_a_download_that_was_complete_is_only_checked(site: Site, tmp_path: Path) -> None:
    content = zipped((NAME, b"{}"))
    (tmp_path / "games.zip.part").write_bytes(content)
    fetch(tmp_path, site.url, (offer(site, content),))
    assert site.asked == []
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "games.zip.part").write_bytes(content)
    fetch(tmp_path / "other", site.url, (Archive("1.0", "games.zip"),))  # size unknown: the server says 416
    assert (tmp_path / "other" / NAME).exists()


def test_another_file_under_the_same_name_is_refused_and_removed(site: Site, tmp_path: Path) -> None:
    archive = offer(site, zipped((NAME, b"right")))
    site.files["/releases/1.0/games.zip"] = zipped((NAME, b"wrong"))
    with pytest.raises(UsageError, match="sha256 differs"):
        fetch(tmp_path, site.url, (archive,))
    site.files["/releases/1.0/games.zip"] += b"longer"
    with pytest.raises(UsageError, match=r"bytes, not \d+"):
        fetch(tmp_path, site.url, (archive,))
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_reached_is_said_in_one_line(site: Site, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot download http.*games\.zip: Not Found"):
        fetch(tmp_path, site.url, (Archive("1.0", "games.zip"),))
    with pytest.raises(UsageError, match="not an http address"):
        fetch(tmp_path, "file:///etc", (Archive("1.0", "games.zip"),))


def link_member() -> zipfile.ZipInfo:
    member = zipfile.ZipInfo("json_2.1.1/link")
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return member


@pytest.mark.parametrize(
    "name", ["../evil", "/tmp/evil", "json/../../evil", "json\\..\\evil", "C:evil", link_member()]
)
def test_archives_that_reach_out_of_the_folder_are_not_unpacked_at_all(
    name: str | zipfile.ZipInfo, tmp_path: Path
) -> None:
    path = tmp_path / "games.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(NAME, b"{}")
        archive.writestr(name, b"/etc/passwd")
    with pytest.raises(UsageError, match="unsafe member, nothing was unpacked"):
        unpack(path, tmp_path / "data")
    assert not (tmp_path / "data").exists()
    assert not (tmp_path / "evil").exists()


def test_a_link_in_the_folder_is_not_followed_out_of_it(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "json_2.1.1").symlink_to(tmp_path / "elsewhere")
    path = tmp_path / "games.zip"
    path.write_bytes(zipped((NAME, b"{}")))
    with pytest.raises(UsageError, match="unsafe member"):
        unpack(path, tmp_path / "data")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_that_is_no_zip_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "games.zip"
    path.write_bytes(b"not a zip file")
    with pytest.raises(UsageError, match="no sound zip file"):
        unpack(path, tmp_path / "data")
