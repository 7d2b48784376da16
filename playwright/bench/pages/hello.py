import js

js.document.querySelector("p").textContent = "Hello"
js.document.documentElement.dataset.done = ""
