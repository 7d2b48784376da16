import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    mo.Html('<p class="ready">ready</p>')
    return
