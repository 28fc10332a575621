// A tab in the background has no stream of events: a browser opens only six connections to a server of HTTP/1.1.
// The extension of htmx ends a stream when its tab goes into the background. It does not see that the tab is already there
// when the stream opens: opened behind another one, or left while the answer was on its way.
document.addEventListener('htmx:sse:after:connection', event => {
    const connection = event.detail.connection;
    document.getElementById('logged-out').hidden = true;
    document.getElementById('not-followed').hidden = true;
    // The extension reads the stream only after this event.
    setTimeout(() => {
        if (document.hidden) connection.visibilityHandler?.();
    });
});

// The session has ended: what the page shows gets old. It is not left, as something may be typed in it. Or so many streams
// are open, of this reader or in all, that the page gets none.
const refused = status => {
    if (status === 401) document.getElementById('logged-out').hidden = false;
    if (status === 429 || status === 503) document.getElementById('not-followed').hidden = false;
};
// A stream that was open is opened again by the extension; the first one of a page is an answer like others.
document.addEventListener('htmx:sse:error', event => refused(event.detail.status));
document.addEventListener('htmx:response:error', event => {
    const status = event.detail.ctx.response.status;
    if (event.target.id === 'live' || status === 401) refused(status);
});
