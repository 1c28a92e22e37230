#include "tools/cold_lookup_bench/report_page.h"

#include <fmt/format.h>

namespace tieredfilter::cold_lookup {

namespace {

// Eight colours that differ in lightness as well, so that they hold for colour-blind readers and in
// grey print.
constexpr char kStyle[] = R"css(
:root { color-scheme: light dark; --text: #1c1f23; --page: #fff; --line: #d5d9de; --soft: #5d6670;
  --c0: #8a939c; --c1: #1f6fb2; --c2: #c4560a; --c3: #18794e; --c4: #8e44ad; --c5: #b8860b; --c6: #0e8fa0; --c7: #b3264f; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e8ea; --page: #16191d; --line: #3a4149; --soft: #a2abb4;
    --c1: #6ab0ee; --c2: #f39a57; --c3: #5fce98; --c4: #cf98e6; --c5: #e6c05a; --c6: #5fd0de; --c7: #f080a0; } }
@media print { :root { --text: #000; --page: #fff; --line: #bbb; --soft: #444;
    --c0: #8a939c; --c1: #1f6fb2; --c2: #c4560a; --c3: #18794e; --c4: #8e44ad; --c5: #b8860b; --c6: #0e8fa0; --c7: #b3264f; }
  body { max-width: none; font-size: 12px; } .badge, svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  h2 { break-after: avoid; } figure, tr { break-inside: avoid; } .wide { overflow: visible; }
  details::details-content { content-visibility: visible; display: block; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); margin: 0 auto; padding: 1rem;
  max-width: 56rem; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { font-size: 1.2rem; margin: 2.5rem 0 0.5rem; } p { margin: 0.5rem 0; }
.lead { font-size: 1.1rem; } .soft { color: var(--soft); } .invalid { border: 2px solid var(--c7); padding: 0.5rem 1rem; }
ul { padding-left: 1.2rem; } li { margin: 0.25rem 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 0.3rem 0.5rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td { white-space: nowrap; }
th { color: var(--soft); font-weight: 600; vertical-align: bottom; }
th.text, td.text { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 8.5rem; }
.settings td { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 7rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
figure { margin: 0.5rem 0; } .legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; font-size: 0.85rem; overflow-wrap: anywhere; }
.badge { display: inline-block; min-width: 1.5em; padding: 0 0.3em; margin-right: 0.35em; border-radius: 0.8em; text-align: center;
  color: var(--page); font-size: 0.8rem; font-weight: 600; }
svg { width: 100%; max-width: 42rem; height: auto; display: block; } svg text { fill: var(--text); font-size: 12px; }
svg .axis { stroke: var(--line); stroke-width: 1; } svg .soft { fill: var(--soft); }
@media (max-width: 600px) { body { padding: 0.75rem; } svg text { font-size: 15px; } }
.badge.c0 { background: var(--c0); } .badge.c1 { background: var(--c1); } .badge.c2 { background: var(--c2); }
.badge.c3 { background: var(--c3); } .badge.c4 { background: var(--c4); } .badge.c5 { background: var(--c5); }
.badge.c6 { background: var(--c6); } .badge.c7 { background: var(--c7); }
svg .f0 { fill: var(--c0); } svg .f1 { fill: var(--c1); } svg .f2 { fill: var(--c2); } svg .f3 { fill: var(--c3); }
svg .f4 { fill: var(--c4); } svg .f5 { fill: var(--c5); } svg .f6 { fill: var(--c6); } svg .f7 { fill: var(--c7); }
svg .s0 { stroke: var(--c0); } svg .s1 { stroke: var(--c1); } svg .s2 { stroke: var(--c2); } svg .s3 { stroke: var(--c3); }
svg .s4 { stroke: var(--c4); } svg .s5 { stroke: var(--c5); } svg .s6 { stroke: var(--c6); } svg .s7 { stroke: var(--c7); }
svg polyline { fill: none; stroke-width: 2; }
)css";

}  // namespace

std::string EscapeHtml(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        // Specs are ASCII; anything else could be half a character.
        escaped += c >= ' ' && c <= '~' ? c : '?';
    }
  }
  return escaped;
}

std::string HtmlPage(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n<style>{}</style>\n"
      "</head>\n<body>\n{}</body>\n</html>\n",
      EscapeHtml(title), kStyle, body);
}

}  // namespace tieredfilter::cold_lookup
