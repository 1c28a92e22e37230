"""The driver's HTML page in a real browser: it renders, in light and dark, fits a phone, and needs nothing from elsewhere.

usage: page_test.py COLD_LOOKUP_BENCH FOLDER
Skipped (exit status 77) where no Chromium is installed.
"""
import html
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

POLICIES = ["bloomfilter:10", "bloomfilter:10+optimize_filters_for_hits", "per-level-cuckoo:8"]
PHONE_PIXELS = 390


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    print("skipped: no Chromium to look at the page with")
    sys.exit(77)


def write_page(driver, work):
    page = work / "page.html"
    subprocess.run([driver, "--num=20000", "--lookups=500", "--verify_keys=false", f"--db={work}/db",
                    f"--policies={' '.join(POLICIES)}", f"--html={page}"], check=True, stdout=subprocess.DEVNULL)
    return page


class Browser:
    def __init__(self, path, work):
        self.command = [path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                        "--disable-background-networking", "--disable-component-update", "--disable-sync",
                        "--hide-scrollbars", "--enable-logging=stderr", f"--user-data-dir={work}/profile"]

    def run(self, url, *flags):
        done = subprocess.run([*self.command, *flags, url], capture_output=True, text=True, timeout=120, check=True)
        messages = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        assert not messages, f"the page has something to complain about: {messages}"
        return done.stdout


def pixels(png):
    """The rows of an 8-bit PNG without interlace, as bytes of three or four channels, and their number."""
    data = png.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", png
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, _, depth, color, _, _, interlace = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and color in (2, 6) and interlace == 0, body
            channels = 3 if color == 2 else 4
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    raw, stride = zlib.decompress(packed), width * channels
    rows, above = [], bytes(stride)
    for start in range(0, len(raw), stride + 1):
        kind, line = raw[start], bytearray(raw[start + 1:start + 1 + stride])
        for i in range(stride):
            left = line[i - channels] if i >= channels else 0
            corner = above[i - channels] if i >= channels else 0
            guesses = (0, left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner))
            line[i] = (line[i] + guesses[kind]) & 255
        above = bytes(line)
        rows.append(above)
    return rows, channels


def paeth(left, above, corner):
    guess = left + above - corner
    return min((left, above, corner), key=lambda value: abs(guess - value))


def colors(png):
    """How often each colour comes, the background first."""
    rows, channels = pixels(png)
    counts = {}
    for row in rows:
        for i in range(0, len(row), channels):
            color = row[i:i + 3]
            counts[color] = counts.get(color, 0) + 1
    return sorted(counts, key=counts.get, reverse=True)


def check_screens(browser, page, work):
    backgrounds = {}
    for name, flags in (("light", []), ("dark", ["--force-dark-mode"])):
        png = work / f"{name}.png"
        browser.run(page.as_uri(), f"--screenshot={png}", "--window-size=420,420", *flags)
        seen = colors(png)
        assert len(seen) > 50, f"{name}: blank, or nearly so"
        backgrounds[name] = sum(seen[0])
    assert backgrounds["light"] > 700 and backgrounds["dark"] < 150, backgrounds


def check_content(browser, page):
    text = page.read_text()
    assert not re.search(r"https?:|src=|url\(|@import|<script", text), "the page wants something from elsewhere"
    dom = browser.run(page.as_uri(), "--dump-dom")
    words = html.unescape(re.sub("<[^>]*>", "", dom))
    for policy in ["none", *POLICIES]:
        assert policy in words, policy
    assert dom.count("<svg") == 3 and dom.count("<polyline") == 1 + len(POLICIES), "charts are missing"
    assert dom.count("<circle") == 1 + len(POLICIES)
    for part in ("Wasted reads against filter memory", "Reads avoided, net", "On other devices", "--zipfian_theta"):
        assert part in words, part


def check_phone(browser, page, work):
    """Nothing but the tables, which scroll by themselves, may be wider than the screen."""
    frame = work / "frame.html"
    frame.write_text(f"""<!doctype html><title>?</title><body><iframe style="width:{PHONE_PIXELS}px;height:800px;border:0"
      onload="document.title = 'wide ' + this.contentDocument.documentElement.scrollWidth"
      srcdoc="{html.escape(page.read_text())}"></iframe>""")
    width = int(re.search(r"<title>wide (\d+)</title>", browser.run(frame.as_uri(), "--dump-dom")).group(1))
    assert width <= PHONE_PIXELS, f"{width} pixels wide on a phone"


def check_print(browser, page, work):
    pdf = work / "page.pdf"
    browser.run(page.as_uri(), f"--print-to-pdf={pdf}", "--no-pdf-header-footer")
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes()))
    assert 2 <= pages <= 12, f"{pages} pages on paper"


def main():
    driver, folder = sys.argv[1:]
    chromium = find_chromium()
    with tempfile.TemporaryDirectory(dir=folder, prefix="page_test.") as name:
        work = pathlib.Path(name)
        page = write_page(driver, work)
        browser = Browser(chromium, work)
        check_content(browser, page)
        check_screens(browser, page, work)
        check_phone(browser, page, work)
        check_print(browser, page, work)


if __name__ == "__main__":
    main()
