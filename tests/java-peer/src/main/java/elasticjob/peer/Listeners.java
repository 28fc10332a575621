package elasticjob.peer;

import java.util.Map;
import org.apache.shardingsphere.elasticjob.infra.listener.ElasticJobListener;
import org.apache.shardingsphere.elasticjob.infra.listener.ShardingContexts;
import org.apache.shardingsphere.elasticjob.lite.api.listener.AbstractDistributeOnceElasticJobListener;

/** Listeners that record their calls, under the type names of those of the Rust workers. */
public final class Listeners {

    /** How long the once-listener waits for the items of others. */
    private static final long ONCE_TIMEOUT_MILLISECONDS = 1500;

    private Listeners() {
    }

    private static void record(final String listener, final String hook, final ShardingContexts contexts) {
        String job = contexts.getJobName();
        Recorder.record(job, "called", Map.of("listener", listener, "hook", hook,
                "scheduled_ms", Fire.scheduledMilliseconds(job), "source", "NORMAL_TRIGGER"));
    }

    /** Called by each instance. */
    public static final class EveryInstance implements ElasticJobListener {

        @Override
        public void beforeJobExecuted(final ShardingContexts contexts) {
            record("every_instance", "BEFORE", contexts);
        }

        @Override
        public void afterJobExecuted(final ShardingContexts contexts) {
            record("every_instance", "AFTER", contexts);
        }

        @Override
        public String getType() {
            return "every-instance";
        }
    }

    /** Called once for all. */
    public static final class Once extends AbstractDistributeOnceElasticJobListener {

        public Once() {
            super(ONCE_TIMEOUT_MILLISECONDS, ONCE_TIMEOUT_MILLISECONDS);
        }

        @Override
        public void doBeforeJobExecutedAtLastStarted(final ShardingContexts contexts) {
            record("once", "BEFORE", contexts);
        }

        @Override
        public void doAfterJobExecutedAtLastCompleted(final ShardingContexts contexts) {
            record("once", "AFTER", contexts);
        }

        @Override
        public String getType() {
            return "once";
        }
    }
}
