package elasticjob.peer;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;

/** Records what happens in this process, one JSON object a line, in the form of the Rust workers. */
final class Recorder {

    private static final Gson GSON = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

    /** Of the process: listeners are made by the library, which hands them nothing. */
    private static volatile Recorder ofProcess;

    private final FileOutputStream file;

    private Recorder(final FileOutputStream file) {
        this.file = file;
    }

    static void open(final String path) throws IOException {
        ofProcess = new Recorder(new FileOutputStream(path, true));
    }

    static void record(final String job, final String what, final Map<String, ?> details) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("at_us", ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()));
        line.put("pid", ProcessHandle.current().pid());
        line.put("job", job);
        line.put("what", what);
        line.putAll(details);
        ofProcess.append(GSON.toJson(line) + "\n");
    }

    /** One call a line, and no buffer: a process that is killed leaves no half of one and keeps none back. */
    private synchronized void append(final String line) {
        try {
            file.write(line.getBytes(StandardCharsets.UTF_8));
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
