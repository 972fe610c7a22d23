#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks at the page of `cosy profile --html` in headless Chromium, narrow and wide, light and dark.

page_test.py [--pictures FOLDER] COSY SUBJECT [RECORDING...]

Nothing is requested but the page itself, nothing is said on the console, no text lies upon other text
or leaves its box, the page is no wider than the window, text stands out from what is below it, and
the sums are those of --json.  Chromium is not needed for anything else: without it this is skipped.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from browser import Browser, browser

WIDTHS = (400, 1400)
MAX_BYTES = 500_000

# Says what is wrong with the page as it is laid out: one string for each fault.
LAYOUT = r"""(() => {
  const faults = [];
  const boxes = [];
  const clips = (node) => {
    for (let at = node; at; at = at.parentElement)
      if (at.classList && at.classList.contains('scroll')) return at.getBoundingClientRect();
    return null;
  };
  const luminance = (rgb) => {
    const part = rgb.map((c) => c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
  };
  const colour = (text) => text.match(/[\d.]+/g).map(Number);
  const below = (element) => {
    const box = element.tagName === 'text' ? element.parentElement.querySelector('rect') : null;
    if (box) return colour(getComputedStyle(box).fill);
    for (let at = element; at; at = at.parentElement) {
      const back = colour(getComputedStyle(at).backgroundColor);
      if (back.length < 4 || back[3] > 0) return back;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.data.trim()) continue;
    const element = node.parentElement;
    const style = getComputedStyle(element);
    const ink = luminance(colour(element.tagName === 'text' ? style.fill : style.color));
    const paper = luminance(below(element));
    const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (contrast < 4.5) faults.push(`contrast ${contrast.toFixed(1)}: ${node.data.slice(0, 60)}`);
    if (parseFloat(style.fontSize) < 11) faults.push(`${style.fontSize}: ${node.data.slice(0, 60)}`);
    const range = document.createRange();
    range.selectNodeContents(node);
    const clip = clips(element);
    for (const r of range.getClientRects()) {
      let left = r.left, right = r.right;
      if (clip) { left = Math.max(left, clip.left); right = Math.min(right, clip.right); }
      else if (left < -0.5 || right > innerWidth + 0.5) faults.push(`outside the window: ${node.data.slice(0, 60)}`);
      if (right - left > 1 && r.height > 2)
        boxes.push({left, right, top: r.top + 1, bottom: r.bottom - 1, text: node.data.slice(0, 40)});
    }
  }
  for (const text of document.querySelectorAll('svg text')) {
    const inside = text.getBoundingClientRect();
    const room = [...text.parentElement.querySelectorAll('rect')].some((rect) => {
      const box = rect.getBoundingClientRect();
      return box.left <= inside.left && inside.right <= box.right &&
        box.top <= inside.top + 2 && inside.bottom <= box.bottom + 2;
    });
    if (!room) faults.push(`leaves its box: ${text.textContent}`);
  }
  for (const path of document.querySelectorAll('svg path')) {
    if (!path.getAttribute('d')) continue;
    const inside = path.getBBox(), view = path.ownerSVGElement.viewBox.baseVal;
    if (inside.x < -1 || inside.y < -1 ||
        inside.x + inside.width > view.width + 1 || inside.y + inside.height > view.height + 1)
      faults.push(`leaves its picture: ${path.className.baseVal} ${path.getAttribute('d').slice(0, 60)}`);
  }
  boxes.sort((a, b) => a.top - b.top);
  for (let i = 0; i < boxes.length; i++)
    for (let j = i + 1; j < boxes.length && boxes[j].top < boxes[i].bottom - 1; j++) {
      const a = boxes[i], b = boxes[j];
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1)
        faults.push(`one upon the other: ${a.text} | ${b.text}`);
    }
  if (document.documentElement.scrollWidth > innerWidth)
    faults.push(`${document.documentElement.scrollWidth} wide`);
  return faults;
})()"""

SUMS = r"""(() => {
  const number = (text) => Number(text.replaceAll(',', ''));
  const sum = (texts) => texts.map(number).reduce((a, b) => a + b, 0);
  return {
    calls: number(document.getElementById('calls').textContent),
    places: sum([...document.querySelectorAll('#places tbody tr')].map((row) => row.cells[1].textContent)),
    lanes: sum([...document.querySelectorAll('.lanes span.lane')].map((lane) => lane.textContent)),
    findings: document.querySelectorAll('.rank').length,
    best: [...document.querySelectorAll('.ranked .way')].map((way) => way.textContent),
  };
})()"""

# What is planted to see that LAYOUT and the lists of events notice.
PLANTED = {
    "one upon the other": "document.querySelector('h2').style.marginBottom = '-2em'",
    "wide": "document.querySelector('h1').style.width = '2000px'",
    "contrast": "document.querySelector('h1').style.color = '#888'",
    "leaves its box": "document.querySelector('svg text').textContent = 'a name that is far too long for any box'",
}


def profile(cosy: str, *arguments: str) -> None:
    run = subprocess.run([cosy, "profile", *arguments], capture_output=True, text=True, timeout=600, check=False)
    if "Operation not permitted" in run.stderr:
        print("ptrace is not permitted here")
        sys.exit(77)
    assert run.returncode == 0, run.stderr


def happened(chromium: Browser, url: str) -> list[str]:
    """Whatever the page asked for or complained of."""
    ret = []
    for event in chromium.happened:
        method, parameters = event.get("method", ""), event.get("params", {})
        if method == "Network.requestWillBeSent" and parameters["request"]["url"] != url:
            ret.append(f"requested {parameters['request']['url']}")
        elif method in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            ret.append(f"said {parameters}")
    return ret


def check_sums(shown: dict[str, Any], report: dict[str, Any]) -> None:
    pays = [one["way"] for one in report["findings"] if one["way"] != "nothing"]
    assert shown["calls"] == shown["places"] == shown["lanes"] == report["calls"], (shown, report["calls"])
    assert shown["best"] == pays and shown["findings"] == len(pays), (shown, pays)


def check_page(chromium: Browser, page: Path, report: dict[str, Any], pictures: Path | None) -> None:
    assert page.stat().st_size < MAX_BYTES, page.stat().st_size
    for width in WIDTHS:
        for dark in (False, True):
            chromium.show(page.as_uri(), width, dark)
            if pictures:
                chromium.picture(pictures / f"{page.stem}-{width}-{'dark' if dark else 'light'}.png")
            faults = chromium.evaluate(LAYOUT) + happened(chromium, page.as_uri())
            assert not faults, (page.name, width, dark, faults)
            check_sums(chromium.evaluate(SUMS), report)


def check_planted(chromium: Browser, page: Path) -> None:
    """Faults that are made on purpose are found."""
    for fault, make in PLANTED.items():
        chromium.show(page.as_uri(), WIDTHS[0], False)
        chromium.evaluate(make)
        faults = chromium.evaluate(LAYOUT)
        assert any(fault in one for one in faults), (fault, faults)
    noisy = page.with_name("noisy.html")
    noisy.write_text(page.read_text().replace("</h1>", "</h1><img src='http://127.0.0.1:9/x.png'>", 1))
    chromium.show(noisy.as_uri(), WIDTHS[0], False)
    assert happened(chromium, noisy.as_uri())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("cosy")
    parser.add_argument("subject")
    parser.add_argument("recordings", nargs="*")
    options = parser.parse_args()
    program = shutil.which("chromium")
    if not program:
        print("chromium is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as at:
        folder = Path(at)
        source, out = folder / "in", folder / "out"
        source.write_bytes(bytes(8192))
        hostile = folder / ("<script src=x onerror='a'>&\x1b[31m\u202e\x9b<b>" + "x" * 120)
        shutil.copy(options.subject, hostile)
        made: list[tuple[Path, list[str]]] = [
            (folder / "subject.html", ["--backend", "ptrace", "--", options.subject, str(source), str(out)]),
            (folder / "hostile.html", ["--backend", "ptrace", "--", str(hostile), str(source), str(out)]),
        ]
        made += [(folder / f"{Path(one).stem}.html", ["--read", one]) for one in options.recordings]
        with browser(program) as chromium:
            for page, what in made:
                report = page.with_suffix(".json")
                profile(options.cosy, "--html", str(page), "--json", str(report), *what)
                check_page(chromium, page, json.loads(report.read_text()), options.pictures)
            check_planted(chromium, made[0][0])


if __name__ == "__main__":
    main()
