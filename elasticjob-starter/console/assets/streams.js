// A tab in the background has no stream of events: a browser opens only six connections to a server of HTTP/1.1.
// The extension of htmx ends a stream when its tab goes into the background. It does not see that the tab is already there
// when the stream opens: opened behind another one, or left while the answer was on its way.
document.addEventListener('htmx:sse:after:connection', event => {
    const connection = event.detail.connection;
    followed();
    // The extension reads the stream only after this event.
    setTimeout(() => {
        if (document.hidden) connection.visibilityHandler?.();
    });
});
document.addEventListener('htmx:sse:after:message', () => followed());

// At most one note says why what the page shows gets old. It is not left, as something may be typed in it.
const NOTES = ['logged-out', 'not-followed', 'stale'];
const show = shown => NOTES.forEach(id => document.getElementById(id).hidden = id !== shown);

// Until when the page was kept up to date; null while it is. In the background it is not.
let until = new Date();
const followed = () => {
    until = null;
    show();
};
document.addEventListener('visibilitychange', () => {
    if (document.hidden) until ??= new Date();
});

// The console is not reached, or it fails. The extension tries again, less and less often, up to once a minute.
const failed = () => {
    until ??= new Date();
    const note = document.getElementById('stale');
    // With the offset: `03:00:00 GMT+0800`, without the name of the zone.
    note.textContent = note.dataset.text.replace('TIME', until.toTimeString().slice(0, 17));
    show('stale');
};

// The console refuses with a problem; a proxy before it answers with a page of its own.
const isOfConsole = headers => headers.get('Content-Type')?.startsWith('application/problem+json') ?? false;

// The session has ended. Or so many streams are open, of this reader or in all, that the page gets none.
const refused = async (status, headers) => {
    until ??= new Date();
    if (status === 401) return show('logged-out');
    if (status !== 429 && status !== 503) return failed();
    const answer = await headers().catch(() => null);
    // Another answer may have come meanwhile.
    if (until === null) return;
    if (answer && isOfConsole(answer)) show('not-followed');
    else failed();
};
// A stream that was open is opened again by the extension, which does not tell the headers of an answer; the first one of a page is
// an answer like others.
document.addEventListener('htmx:sse:error', event => {
    const { status, connection } = event.detail;
    if (status === undefined) failed();
    else refused(status, async () => (await fetch(connection.url, { method: 'HEAD' })).headers);
});
document.addEventListener('htmx:response:error', event => {
    const response = event.detail.ctx.response;
    if (event.target.id === 'live' || [401, 502, 504].includes(response.status)) {
        refused(response.status, async () => response.raw.headers);
    }
});
// There was no answer at all.
document.addEventListener('htmx:error', event => {
    if (event.detail.ctx && !event.detail.ctx.response) failed();
});
