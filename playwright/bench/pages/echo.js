// A worker in the real frame that sends every text back as bytes: what a message costs by itself.
self.onmessage = ({ ports: [port] }) => {
  const encoder = new TextEncoder();
  port.onmessage = ({ data: text }) => {
    const bytes = encoder.encode(text).buffer;
    port.postMessage([bytes, null], [bytes]);
  };
};
