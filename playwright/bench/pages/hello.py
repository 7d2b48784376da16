import js

js.document.querySelector("p").textContent = "Hello"
js.document.title = "Ready"
js.document.documentElement.dataset.done = ""
