// A tab in the background has no stream of events: a browser opens only six connections to a server of HTTP/1.1.
// The extension of htmx ends a stream when its tab goes into the background. It does not see that the tab is already there
// when the stream opens: opened behind another one, or left while the answer was on its way.
document.addEventListener('htmx:sse:after:connection', event => {
    const connection = event.detail.connection;
    // The extension reads the stream only after this event.
    setTimeout(() => {
        if (document.hidden) connection.visibilityHandler?.();
    });
});
