# Sphinx's configuration of the site; docs/site/build.py puts it beside the pages.
project = "Kernel Lab"
html_title = project
extensions = ["myst_parser"]
highlight_language = "text"  # a block that names no language is what a program prints
html_theme = "furo"  # light and dark as the reader's system is, which the pictures follow too
root_doc = "README"
myst_heading_anchors = 4
myst_links_external_new_tab = False
html_show_sphinx = False
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
# Languages that have no highlighting are shown plain.
suppress_warnings = ["misc.highlighting_failure", "myst.header", "image.not_readable"]
