"""`chunkproof report`: a fixture's texts, cuts and figures as a static site that checks them again in the browser.

`cli` runs the engines, `site` and `check` collect what the page shows and asks, `write` makes the folder. The page itself
is TypeScript (`ts/page`); it computes no figure that is given here.
"""
