"""The look of the page: one sheet, light and dark by the reader's preference, nothing fetched."""

_SHEET = """
:root{color-scheme:light dark;--paper:#fff;--sheet:#f6f7f9;--ink:#1b1f27;--soft:#5a6372;--rule:#dfe3e9;--band:#f3f5f8;
--base:#6b7280;--lead:#0a5fc2;--other0:#b45309;--other1:#0f766e;--other2:#7c3aed;--other3:#be185d;--other4:#4d7c0f;--other5:#0e7490;
--gain:#1a7f4b;--loss:#c2362b}
@media(prefers-color-scheme:dark){:root{--paper:#14171c;--sheet:#0e1013;--ink:#e7eaef;--soft:#a0a9b8;--rule:#2d333d;--band:#1b1f26;
--base:#9aa3b2;--lead:#6cb2ff;--other0:#f0a54a;--other1:#4fd1bd;--other2:#b79bff;--other3:#f783b5;--other4:#a3d45c;--other5:#5cc8e0;
--gain:#4cc38a;--loss:#ff7a6e}}
*{box-sizing:border-box}
body{margin:0;background:var(--sheet);color:var(--ink);font:15px/1.5 system-ui,-apple-system,
"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1096px;margin:0 auto;padding:32px 24px 64px}
header p{margin:2px 0 0;color:var(--soft)}
h1{font-size:28px;line-height:1.2;margin:0;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:18px;line-height:1.3;margin:0 0 4px;overflow-wrap:anywhere}
section{background:var(--paper);border:1px solid var(--rule);border-radius:10px;padding:20px 23px;margin-top:20px}
section>p{margin:0 0 12px;color:var(--soft);font-size:14px;max-width:80ch}
section>div+p{margin-top:16px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(200px,1fr));gap:12px;margin:20px 0 0;padding:0}
.tiles>div{background:var(--paper);border:1px solid var(--rule);border-radius:10px;padding:14px 18px}
.tiles dt{color:var(--soft);font-size:13px;overflow-wrap:anywhere}
.tiles dd{margin:0}
.tiles .figure{font-size:30px;font-weight:650;line-height:1.25;letter-spacing:-.02em;font-variant-numeric:tabular-nums}
.tiles .small{color:var(--soft);font-size:13px}
.scroll{overflow-x:auto;margin:0 -4px;padding:0 4px}
.scroll:focus-visible{outline:2px solid var(--lead);outline-offset:2px}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
th,td{padding:7px 12px 7px 0;border-bottom:1px solid var(--rule);text-align:right;vertical-align:top;
unicode-bidi:isolate;white-space:nowrap}
th:first-child,td:first-child{text-align:left}
th:last-child,td:last-child{padding-right:0}
thead th{color:var(--soft);font-weight:550;font-size:13px;vertical-align:bottom}
tbody th{font-weight:550;white-space:normal;overflow-wrap:anywhere;min-width:110px}
tbody tr:last-child>*{border-bottom:0}
th.text,td.text{text-align:left}
td small{display:block;color:var(--soft);font-size:12px}
td.best{font-weight:700}
td.best small{font-weight:400}
td .worse{color:var(--loss);font-size:11px}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:16px}
svg{display:block;width:100%;height:auto;min-width:420px}
.wide svg{min-width:760px}
svg text{font-size:12px;fill:var(--ink)}
svg .tick,svg .axis{fill:var(--soft);font-variant-numeric:tabular-nums}
svg .name{font-size:13px;font-weight:550}
svg .count{fill:var(--soft);font-variant-numeric:tabular-nums}
svg .value{font-variant-numeric:tabular-nums}
svg .strong{font-size:13px;font-weight:550}
svg .error{fill:var(--loss);font-style:italic}
svg .grid{stroke:var(--rule);stroke-width:1}
svg .zero{stroke:var(--soft);stroke-width:1}
svg .band{fill:var(--band)}
svg .whisker{stroke-width:1.6}
svg .ink{stroke:var(--ink);stroke-width:1.3}
svg .leader{stroke-width:.8;opacity:.6}
svg .gain{fill:var(--gain)}
svg .loss{fill:var(--loss)}
svg .faint{fill-opacity:.4}
.provenance{display:grid;grid-template-columns:max-content 1fr;gap:4px 20px;margin:8px 0 0;font-size:14px}
.provenance dt{color:var(--soft)}
.provenance dd{margin:0;overflow-wrap:anywhere;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:13px}
ul{margin:4px 0 0;padding-left:20px}
@media(max-width:600px){main{padding:20px 12px 40px}section{padding:16px}}
@media print{body{background:none}section{break-inside:avoid}}
"""

SYSTEMS = ("base", "lead", *(f"other{place}" for place in range(6)))
_COLOURED = "svg .mark.{0},svg text.{0}{{fill:var(--{0})}}svg line.{0}{{stroke:var(--{0})}}"
STYLE = _SHEET + "\n".join(_COLOURED.format(kind) for kind in SYSTEMS)
