package elasticjob.peer;

import java.util.concurrent.CountDownLatch;
import org.apache.shardingsphere.elasticjob.lite.api.bootstrap.impl.OneOffJobBootstrap;
import org.apache.shardingsphere.elasticjob.lite.api.bootstrap.impl.ScheduleJobBootstrap;
import org.apache.shardingsphere.elasticjob.reg.base.CoordinatorRegistryCenter;
import org.apache.shardingsphere.elasticjob.reg.exception.RegException;

/** A process of a group: runs its jobs until a signal ends it. */
final class Instance {

    private Instance() {
    }

    static void main(final String[] arguments) throws Exception {
        if (1 != arguments.length) {
            throw new UsageException("PLAN, as JSON");
        }
        Plan plan = Plan.parse(arguments[0]);
        Recorder.open(plan.records());
        CoordinatorRegistryCenter registry = connect(plan.registry());
        for (Plan.Job each : plan.jobs()) {
            start(registry, each, new RecordedJob(each.runMilliseconds(), plan.paceFile()));
        }
        // Also when an operator ended all of its jobs, as in a server that has more to do.
        new CountDownLatch(1).await();
    }

    /** As whoever supervises a program would: faults may last longer than its patience. */
    private static CoordinatorRegistryCenter connect(final Registry registry) {
        while (true) {
            try {
                return registry.connect();
            } catch (final RegException ex) {
                System.err.println("once more: " + ex.getMessage());
            }
        }
    }

    private static void start(final CoordinatorRegistryCenter registry, final Plan.Job plan, final RecordedJob job) {
        var configuration = plan.parsed();
        if (null == configuration.getCron()) {
            new OneOffJobBootstrap(registry, job, configuration);
        } else {
            new ScheduleJobBootstrap(registry, job, configuration).schedule();
        }
    }
}
