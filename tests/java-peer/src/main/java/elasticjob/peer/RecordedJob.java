package elasticjob.peer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.shardingsphere.elasticjob.api.ShardingContext;
import org.apache.shardingsphere.elasticjob.simple.job.SimpleJob;

/** A job whose runs are recorded. */
public final class RecordedJob implements SimpleJob {

    private static final AtomicLong RUNS = new AtomicLong();

    private static final long STEP_MILLISECONDS = 100;

    private final long runMilliseconds;

    private final Path pace;

    RecordedJob(final long runMilliseconds, final Path pace) {
        this.runMilliseconds = runMilliseconds;
        this.pace = pace;
    }

    @Override
    public void execute(final ShardingContext context) {
        String job = context.getJobName();
        long run = RUNS.getAndIncrement();
        long scheduled = Fire.scheduledMilliseconds(job);
        Map<String, Object> begin = new LinkedHashMap<>();
        begin.put("run", run);
        begin.put("item", context.getShardingItem());
        begin.put("scheduled_ms", scheduled);
        // Neither is told to a job.
        begin.put("source", "NORMAL_TRIGGER");
        begin.put("token", null);
        begin.put("instance", instanceOf(context.getTaskId()));
        Recorder.record(job, "begin", begin);
        String how = "finished";
        try {
            // Counted, not timed: a process that was frozen in the midst of a run goes on with it.
            for (long step = 0; step < durationOf(scheduled) / STEP_MILLISECONDS; step++) {
                Thread.sleep(STEP_MILLISECONDS);
            }
        } catch (final InterruptedException ex) {
            how = "cancelled";
            Thread.currentThread().interrupt();
        }
        Recorder.record(job, "end", Map.of("run", run, "how", how));
    }

    /** A task id ends with the id of the instance: an address, the separator, a process id. */
    private static String instanceOf(final String taskId) {
        int ofProcess = taskId.lastIndexOf("@-@");
        return taskId.substring(taskId.lastIndexOf("@-@", ofProcess - 1) + "@-@".length());
    }

    private long durationOf(final long scheduled) {
        if (null == pace) {
            return runMilliseconds;
        }
        try {
            return scheduled >= Long.parseLong(Files.readString(pace)) ? runMilliseconds : 0;
        } catch (final NoSuchFileException ex) {
            return 0;
        } catch (final IOException ex) {
            throw new IllegalStateException("the pace cannot be read", ex);
        }
    }
}
