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

  // Names on the right of their points and below the roof, one below the other where points lie on each other, with lines
  // that lead to them.
  const labelled = (labels, roof, pixelsOfUnit, plotHeight) => {
    const lineHeight = Math.min(15, plotHeight / (labels.length + 1));
    const sorted = [...labels].sort((a, b) => b.y - a.y);
    let lowest = -roof * pixelsOfUnit - 3;  // pixels, downwards
    return sorted.map(({x, y, text, colour: name}) => {
      const at = -y * pixelsOfUnit;
      const place = Math.max(at, lowest + lineHeight);
      lowest = place;
      return {x, y, text, ax: 24, ay: place - at, xanchor: "left", showarrow: true, arrowhead: 0, arrowwidth: 1, standoff: 5,
              arrowcolor: colour(name), font: {size: 11}};
    });
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

    // Beside the plot, or on narrow pages below the axis and its title, where the figure grows by it.
    const legendHeight = below && narrow ? 19 * figure.data.length + 12 : 0;
    const axisHeight = 64;
    const height = legendHeight > 0 ? 260 + axisHeight + legendHeight : figure.height;
    element.style.height = `${height}px`;
    if (legendHeight > 0) {
      dressed.margin = {...layout.margin, b: axisHeight + legendHeight};
      dressed.legend = {orientation: "v", x: 0, xanchor: "left", yref: "container", y: 0, yanchor: "bottom", maxheight: 1};
      dressed.xaxis.automargin = false;
    } else if (below) {
      dressed.legend = {orientation: "v", x: 1.02, y: 1};
    }
    if (figure.labels) {
      const [low, high] = layout.yaxis.range, plotHeight = height - axisHeight - legendHeight - 8;
      dressed.annotations = labelled(figure.labels, figure.roof, plotHeight / (high - low), plotHeight);
      // With room for the names on the right of the points.
      const plotWidth = element.clientWidth - (narrow ? 60 : 250), from = layout.xaxis.range[0];
      const room = Math.min(0.6, 160 / plotWidth), points = figure.labels[0].x;
      if (narrow) {  // every second one has room
        dressed.xaxis.tickvals = layout.xaxis.tickvals.filter((_, place) => place % 2 === 0);
        dressed.xaxis.ticktext = layout.xaxis.ticktext.filter((_, place) => place % 2 === 0);
      }
      dressed.xaxis.range = [from, Math.max(layout.xaxis.range[1], from + (points - from) / (1 - room))];
    }
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
