// Fills in the figures of a page of `lab report`: Plotly draws them in the page's colours, light or dark, and in those
// of paper while the page is printed.
"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  // Paul Tol's "bright" colours for qualitative data, which the colour-blind tell apart, on light and on dark ground.
  const palette = ["#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#999999"];
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  const colour = (name) =>
    typeof name === "number" ? palette[name] : getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

  const dressedTrace = (trace) => {
    const dressed = structuredClone(trace);
    const shade = trace.colour === undefined ? undefined : colour(trace.colour);
    if (trace.colours) dressed.marker = {...dressed.marker, color: trace.colours.map(colour)};
    if (shade) {
      dressed.marker = {...dressed.marker, color: shade};
      dressed.line = {...dressed.line, color: shade};
    }
    if (trace.type === "bar") {
      dressed.insidetextfont = {color: colour("page")};
      dressed.outsidetextfont = {color: colour("text")};
    }
    delete dressed.colour;
    delete dressed.colours;
    return dressed;
  };

  const dressedLayout = (figure, element) => {
    const narrow = element.clientWidth < 560;
    const axis = {gridcolor: colour("line"), zerolinecolor: colour("line"), linecolor: colour("line")};
    const {legend_below: below, ...layout} = structuredClone(figure.layout);
    const dressed = {
      ...layout,
      paper_bgcolor: colour("page"),
      plot_bgcolor: colour("page"),
      font: {color: colour("text"), family: "system-ui, sans-serif", size: narrow ? 11 : 13},
      xaxis: {...axis, ...layout.xaxis},
      yaxis: {...axis, ...layout.yaxis},
      autosize: true,
    };

    if (below) dressed.legend = narrow ? {orientation: "h", y: -0.25} : {orientation: "v", x: 1.02, y: 1};
    if (figure.line_at) {
      dressed.shapes = [{type: "line", yref: "paper", x0: figure.line_at, x1: figure.line_at, y0: 0, y1: 1,
                         line: {color: colour("ceiling"), dash: "dot", width: 2}}];
    }
    return dressed;
  };

  const draw = () => {
    for (const figure of figures) {
      const element = document.getElementById(figure.id);
      Plotly.react(element, figure.data.map(dressedTrace), dressedLayout(figure, element),
                   {responsive: true, displayModeBar: false, displaylogo: false});
    }
  };

  draw();
  dark.addEventListener("change", draw);
  window.addEventListener("beforeprint", draw);
  window.addEventListener("afterprint", draw);
  document.documentElement.dataset.figures = "drawn";
})();
